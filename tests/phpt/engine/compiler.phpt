--TEST--
Nothing waits while eval(), a scanner or parse_ini_string() works: each is one for the process
--EXTENSIONS--
tokenizer
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

$refused = 0;
$switched = 0;
set_error_handler(function (int $type, string $message) use (&$refused, &$switched) {
    $before = $switched;
    usleep(2_000);
    try {
        Coroutine::sleep(0.001);
        echo "waited in: $message\n";
    } catch (Coroutine\Exception $e) {
        $refused += $e->getCode() === Coroutine\Exception::CANNOT_SWITCH;
    }
    echo $switched === $before ? '' : "others ran in: $message\n";
    return true;
});
$all = [
    fn (int $i) => (eval("return function (\$a = 1, \$b) { return 'eval $i'; };"))(1, 2),
    fn (int $i) => count(token_get_all("<?php f$i(08);", TOKEN_PARSE)),
    fn (int $i) => parse_ini_string("a$i = 1\nb$i = (") === false ? 'not parsed' : 'parsed',
];
run(function () use ($all, &$switched) {
    for ($i = 0; $i < 4; $i++) {
        foreach ($all as $nr => $f) {
            go(function () use ($f, $i, $nr, &$results, &$switched) {
                Coroutine::sleep(0.001);
                $switched++;
                try {
                    $results[$nr][] = $f($i);
                } catch (ParseError $e) {
                    $results[$nr][] = $e->getMessage();
                }
                if ($i === 3 && $nr === 2) {
                    foreach ($results as $list) {
                        echo implode(', ', array_unique($list)), "\n";
                    }
                }
            });
        }
    }
});
var_dump($refused);
?>
--EXPECT--
eval 0, eval 1, eval 2, eval 3
Invalid numeric literal
not parsed
int(8)
