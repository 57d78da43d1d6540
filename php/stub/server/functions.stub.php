<?php

namespace Apus;

/**
 * Inside what Server::compute() runs: passes a value to its progress callback, and throws if the result is no longer
 * awaited. Long computations should call it regularly, even without a value.
 * @return bool false when there is no room for it
 * @throws \Apus\Server\TaskException CANCELLED when the computation was cancelled, TOO_LARGE
 * @throws \Apus\Server\Exception STATE outside a computation
 * @throws \Exception what packing the value throws
 * Does not wait.
 * @rust task::compute::progress
 * @rust typed
 */
function progress(mixed $value = null): bool {}

/** Server mode. Apus has one process model; both modes mean it. */
const BASE = 1;

/** Server mode. Apus has one process model; both modes mean it. */
const PROCESS = 2;

/**
 * A TCP port on an IPv4 address.
 * @rust address::SOCK_TCP
 */
const SOCK_TCP = 1;

/**
 * A TCP port on an IPv6 address.
 * @rust address::SOCK_TCP6
 */
const SOCK_TCP6 = 3;

/**
 * A Unix stream socket; the host is its path.
 * @rust address::SOCK_UNIX_STREAM
 */
const SOCK_UNIX_STREAM = 5;

/**
 * A Unix datagram socket; the host is its path.
 * @rust address::SOCK_UNIX_DGRAM
 */
const SOCK_UNIX_DGRAM = 6;

/**
 * No connection has that session id.
 * @rust crate::last_error::NOT_EXIST
 */
const ERROR_SESSION_NOT_EXIST = 1005;

/**
 * The connection is closed, or being closed.
 * @rust crate::last_error::CLOSED
 */
const ERROR_SESSION_CLOSED = 1004;

/**
 * As much output waits for the connection as buffer_output_size allows.
 * @rust crate::last_error::OVERFLOW
 */
const ERROR_OUTPUT_BUFFER_OVERFLOW = 1009;

/**
 * The connection is not of the kind that the call needs.
 * @rust crate::last_error::WRONG_KIND
 */
const ERROR_SESSION_INVALID = 1006;

/**
 * The process that has the connection takes no more messages now.
 * @rust crate::last_error::QUEUE_FULL
 */
const ERROR_QUEUE_FULL = 506;

/**
 * The message is larger than the process that has the connection takes.
 * @rust crate::last_error::TOO_LARGE
 */
const ERROR_DATA_TOO_LARGE = 1203;

/**
 * The kernel has the message, or will get it in this turn of the loop.
 * @rust websocket::SENT
 */
const PUSH_SENT = 1;

/**
 * The message waits for its receiver.
 * @rust websocket::BUFFERED
 */
const PUSH_BUFFERED = 2;

/**
 * The message is lost: the output that waits for its receiver has reached buffer_output_size.
 * @rust websocket::DROPPED
 */
const PUSH_DROPPED = 0;

/**
 * The message is lost: there is no such WebSocket, or it is closing.
 * @rust websocket::GONE
 */
const PUSH_GONE = -1;

/**
 * Priority of a task that runs before all other waiting tasks.
 * @rust task::priority::HIGH
 */
const TASK_HIGH = 0;

/**
 * Priority of most tasks.
 * @rust task::priority::NORMAL
 */
const TASK_NORMAL = 1;

/**
 * Priority of a task that runs when no other waits.
 * @rust task::priority::LOW
 */
const TASK_LOW = 2;

/**
 * The tasks that wait and run take as much memory as task_queue_size allows.
 * @rust task::errors::QUEUE_FULL
 */
const ERROR_TASK_QUEUE_FULL = 1301;

/**
 * The task worker that ran the task died.
 * @rust task::errors::WORKER_DIED
 */
const ERROR_TASK_WORKER_DIED = 1302;

/**
 * The task's callback threw, or a fatal error ended it.
 * @rust task::errors::FAILED
 */
const ERROR_TASK_FAILED = 1303;

/**
 * The task took longer.
 * @rust task::errors::TIMEOUT
 */
const ERROR_TASK_TIMEOUT = 2003;
