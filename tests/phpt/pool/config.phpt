--TEST--
PDOConfig, MysqliConfig, RedisConfig: defaults, fluent setters, limits
--FILE--
<?php
require __DIR__ . '/conn.inc';
use Apus\Database\{MysqliConfig, PDOConfig, RedisConfig};

$pdo = new PDOConfig;
var_dump(
    $pdo->getDriver(),
    $pdo->getHost(),
    $pdo->getPort(),
    $pdo->hasUnixSocket(),
    $pdo->getUnixSocket(),
    $pdo->getDbname(),
    $pdo->getCharset(),
    $pdo->getUsername(),
    $pdo->getPassword(),
    $pdo->getOptions(),
);
$same = $pdo->withHost('db')->withUnixSocket('/run/x')->withDriver('pgsql')->withDbname('d')->withCharset('c')
    ->withUsername('u')->withPassword('p')->withOptions([2 => 5]);
var_dump($same === $pdo, $pdo->getPort(), $pdo->withPort(1)->getPort(), $pdo->hasUnixSocket());
echo implode(
    ' ',
    [
        $pdo->getDriver(),
        $pdo->getHost(),
        $pdo->getUnixSocket(),
        $pdo->getDbname(),
        $pdo->getCharset(),
        $pdo->getUsername(),
        $pdo->getPassword(),
        json_encode($pdo->getOptions()),
    ],
), "\n";
var_dump($pdo->withUnixSocket(null)->hasUnixSocket(), PDOConfig::DRIVER_MYSQL);

$mysqli = new MysqliConfig;
echo json_encode([
    $mysqli->getHost(),
    $mysqli->getPort(),
    $mysqli->getUnixSocket(),
    $mysqli->getDbname(),
    $mysqli->getCharset(),
    $mysqli->getUsername(),
    $mysqli->getPassword(),
    $mysqli->getOptions(),
]), "\n";
$mysqli->withHost('h')->withPort(1)->withUnixSocket('/s')->withDbname('d')->withCharset('c')
    ->withUsername('u')->withPassword('p')->withOptions([0 => 1]);
echo json_encode(
    [
        $mysqli->getHost(),
        $mysqli->getPort(),
        $mysqli->getUnixSocket(),
        $mysqli->getDbname(),
        $mysqli->getCharset(),
        $mysqli->getUsername(),
        $mysqli->getPassword(),
        $mysqli->getOptions(),
    ],
    JSON_UNESCAPED_SLASHES,
), "\n";

$redis = new RedisConfig;
echo json_encode([
    $redis->getHost(),
    $redis->getPort(),
    $redis->getTimeout(),
    $redis->getReserved(),
    $redis->getRetryInterval(),
    $redis->getReadTimeout(),
    $redis->getAuth(),
    $redis->getDbIndex(),
    $redis->getOptions(),
]), "\n";
$redis->withHost('h')->withPort(1)->withTimeout(1.5)->withReserved('r')->withRetryInterval(100)->withReadTimeout(2)
    ->withAuth('a')->withDbIndex(3)->withOption(2, 'x:')->withOption(4, 'y');
echo json_encode([
    $redis->getHost(),
    $redis->getPort(),
    $redis->getTimeout(),
    $redis->getReserved(),
    $redis->getRetryInterval(),
    $redis->getReadTimeout(),
    $redis->getAuth(),
    $redis->getDbIndex(),
    $redis->getOptions(),
]), "\n";
echo json_encode($redis->setOptions([1 => 2])->withOption(1, 3)->getOptions()), "\n";

complain(fn() => $pdo->withPort(65536));
complain(fn() => $redis->withDbIndex(-1));
complain(fn() => $redis->withTimeout(-0.1));
complain(fn() => $redis->withReadTimeout(NAN));
complain(fn() => $pdo->withOptions(null));
complain(fn() => $pdo->withHost([]));
complain(fn() => $pdo->getHost(1));
complain(fn() => new Apus\Database\PDOPool(new MysqliConfig));
complain(fn() => new Apus\Database\RedisPool(1));

// Copies are independent.
$copy = (clone $pdo)->withHost('other');
var_dump($pdo->getHost(), $copy->getHost());
?>
--EXPECT--
string(5) "mysql"
string(9) "127.0.0.1"
int(3306)
bool(false)
NULL
string(4) "test"
string(7) "utf8mb4"
string(4) "root"
string(4) "root"
array(0) {
}
bool(true)
int(5432)
int(1)
bool(true)
pgsql db /run/x d c u p {"2":5}
bool(false)
string(5) "mysql"
["127.0.0.1",3306,null,"test","utf8mb4","root","root",[]]
["h",1,"/s","d","c","u","p",[1]]
["127.0.0.1",6379,0,"",0,0,"",0,[]]
["h",1,1.5,"r",100,2,"a",3,{"2":"x:","4":"y"}]
{"1":3}
ValueError 0: Apus\Database\PDOConfig::withPort(): Argument #1 ($port) must be a port from 0 to 65535, 65536 given
ValueError 0: Apus\Database\RedisConfig::withDbIndex(): Argument #1 ($dbIndex) must be 0 or more, -1 given
ValueError 0: Apus\Database\RedisConfig::withTimeout(): Argument #1 ($timeout) must be 0 or more seconds, -0.1 given
ValueError 0: Apus\Database\RedisConfig::withReadTimeout(): Argument #1 ($read_timeout) must be 0 or more seconds, NaN given
TypeError 0: Apus\Database\PDOConfig::withOptions(): Argument #1 ($options) must be of type array, null given
TypeError 0: Apus\Database\PDOConfig::withHost(): Argument #1 ($host) must be of type string, array given
ArgumentCountError 0: Apus\Database\PDOConfig::getHost() expects exactly 0 arguments, 1 given
TypeError 0: Apus\Database\PDOPool::__construct(): Argument #1 ($config) must be of type Apus\Database\PDOConfig, Apus\Database\MysqliConfig given
TypeError 0: Apus\Database\RedisPool::__construct(): Argument #1 ($config) must be of type Apus\Database\RedisConfig, int given
string(2) "db"
string(5) "other"
