<?php

namespace Apus;

/**
 * Workers of a pool get no messages.
 * @rust pool::core::Ipc::None
 */
const IPC_NONE = 0;

/**
 * Workers of a pool get messages from each other.
 * @rust pool::core::Ipc::UnixSock
 */
const IPC_UNIXSOCK = 1;

/**
 * Workers of a pool get messages from a System V message queue.
 * @rust pool::core::Ipc::MsgQueue
 */
const IPC_MSGQUEUE = 2;

/**
 * Workers of a pool get messages from clients of a socket.
 * @rust pool::core::Ipc::Socket
 */
const IPC_SOCKET = 3;
