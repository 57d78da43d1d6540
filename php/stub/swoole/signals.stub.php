<?php

// What pcntl declares; there without it, too.
const SIGHUP = 1;
const SIGINT = 2;
const SIGQUIT = 3;
const SIGILL = 4;
const SIGTRAP = 5;
const SIGABRT = 6;
const SIGBUS = 7;
const SIGFPE = 8;
const SIGKILL = 9;
const SIGUSR1 = 10;
const SIGSEGV = 11;
const SIGUSR2 = 12;
const SIGPIPE = 13;
const SIGALRM = 14;
const SIGTERM = 15;
const SIGSTKFLT = 16;
const SIGCHLD = 17;
const SIGCONT = 18;
const SIGSTOP = 19;
const SIGTSTP = 20;
const SIGTTIN = 21;
const SIGTTOU = 22;
const SIGURG = 23;
const SIGXCPU = 24;
const SIGXFSZ = 25;
const SIGVTALRM = 26;
const SIGPROF = 27;
const SIGWINCH = 28;
const SIGIO = 29;
const SIGPWR = 30;
const SIGSYS = 31;
const SIG_IGN = 1;
const PRIO_PROCESS = 0;
const PRIO_PGRP = 1;
const PRIO_USER = 2;
