<?php
// Within the script of a server, beside a table of pages.
$server = new Apus\Http\Server('127.0.0.1', 8090);
$server->set(['worker_num' => 1]);
$table = new Apus\Table(100);
$table->column('count', Apus\Table::TYPE_INT);
$table->create();
// the sample
$server->start();
