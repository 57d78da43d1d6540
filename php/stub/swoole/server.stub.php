<?php

namespace Swoole\Server;

/**
 * What the callbacks of connect, receive and close get with the setting event_object.
 * @rust static EVENT_OBJECT
 * @rust plain
 */
class Event
{
    public $reactor_id = 0;

    public $fd = 0;

    public $dispatch_time = 0.0;

    public $data = null;
}

/**
 * What the callback of packet gets with the setting event_object.
 * @rust static PACKET_OBJECT
 * @rust plain
 */
class Packet
{
    public $server_socket = 0;

    public $server_port = 0;

    public $dispatch_time = 0.0;

    public $address = null;

    public $port = 0;

    public $data = null;
}

/**
 * What the callback of pipemessage gets with the setting event_object.
 * @rust static PIPE_MESSAGE_OBJECT
 * @rust plain
 */
class PipeMessage
{
    public $source_worker_id = 0;

    public $worker_id = 0;

    public $dispatch_time = 0.0;

    public $data = null;
}

/**
 * What the callback of workererror gets with the setting event_object.
 * @rust static STATUS_INFO_OBJECT
 * @rust plain
 */
class StatusInfo
{
    public $worker_id = 0;

    public $worker_pid = 0;

    public $status = 0;

    public $exit_code = 0;

    public $signal = 0;
}

/**
 * What the callback of finish gets with the setting event_object.
 * @rust static TASK_RESULT_OBJECT
 * @rust plain
 */
class TaskResult
{
    public $task_id = 0;

    public $task_worker_id = 0;

    public $dispatch_time = 0.0;

    public $data = null;
}
