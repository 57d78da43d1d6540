--TEST--
A coroutine's session begins as a script's does: without $_SESSION, and disabled when the settings name no handler
--EXTENSIONS--
session
--INI--
session.save_handler=nowhere
session.use_cookies=0
session.cache_limiter=
session.gc_probability=0
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

// What is printed ends the time for settings: it comes at the end.
$said = '';
function say(string ...$parts): void
{
    $GLOBALS['said'] .= implode('', $parts) . "\n";
}
set_error_handler(fn (int $level, string $text) => say("error: $text"));

function look(string $when): void
{
    session_name();
    say("$when: ", (string) session_status(), ', ', isset($GLOBALS['_SESSION']) ? 'set' : 'not set');
}

look('outside');
run(function () {
    look('inside');
    say('started: ', var_export(session_start(), true));
    ini_set('session.save_handler', 'files');
    ini_set('session.save_path', sys_get_temp_dir());
    say('variables: ', var_export($_SESSION, true));
    go(function () {
        session_start();
        $_SESSION['name'] = 'second';
        look('the second, whose session is open');
        Coroutine::sleep(0.002);
        look('the second, when others have run');
        say($_SESSION['name']);
        session_destroy();
    });
    look('the first, while the second has one');
    Coroutine::sleep(0.004);
    look('the first, when the second has gone');
    say('in the table: ', var_export(array_key_exists('_SESSION', $GLOBALS), true));
});
look('outside, afterwards');
echo $said;
?>
--EXPECT--
outside: 0, not set
inside: 0, not set
error: session_start(): Cannot find session save handler "nowhere" - session startup failed
started: false
error: Undefined global variable $_SESSION
variables: NULL
the second, whose session is open: 2, set
the first, while the second has one: 0, not set
the second, when others have run: 2, set
second
the first, when the second has gone: 0, not set
in the table: false
outside, afterwards: 0, not set
