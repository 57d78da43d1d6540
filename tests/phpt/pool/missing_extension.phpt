--TEST--
Pools of drivers that are not loaded say so
--SKIPIF--
<?php if (extension_loaded('pdo') || extension_loaded('mysqli') || extension_loaded('redis')) die('skip the extensions are built in'); ?>
--FILE--
<?php
require __DIR__ . '/conn.inc';
use Apus\Database\{MysqliConfig, MysqliPool, PDOConfig, PDOPool, RedisConfig, RedisPool};

complain(fn() => new PDOPool(new PDOConfig));
complain(fn() => new MysqliPool(new MysqliConfig));
complain(fn() => new RedisPool(new RedisConfig));
complain(fn() => PDOConfig::getAvailableDrivers());
?>
--EXPECT--
Apus\ConnectionPool\Exception 405: this pool needs the PHP extension pdo, which is not loaded
Apus\ConnectionPool\Exception 405: this pool needs the PHP extension mysqli, which is not loaded
Apus\ConnectionPool\Exception 405: this pool needs the PHP extension redis, which is not loaded
Apus\ConnectionPool\Exception 405: this pool needs the PHP extension pdo, which is not loaded
