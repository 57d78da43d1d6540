--TEST--
stubs() is valid PHP, and reflection of every class, method and function agrees with it
--FILE--
<?php
$text = Apus\stubs();
$file = tempnam(sys_get_temp_dir(), 'apus');
file_put_contents($file, $text);
echo exec(escapeshellarg(PHP_BINARY) . ' -n -l ' . escapeshellarg($file), $out, $status) === "No syntax errors detected in $file" ? "valid\n" : implode("\n", $out);
unlink($file);

// The declarations of the stubs, read by a small parser: NAME => "params): type".
preg_match_all('/^namespace (\S+);|^(?:final |abstract )?(?:class|interface) (\w+)|function (\w+)\((.*)\)(?:: (\S+))?(?: \{\}|;)|public const (\w+)|^(\})/m', $text, $found, PREG_SET_ORDER);
$declared = [];
foreach ($found as $m) {
    if ($m[1] !== '') { $space = $m[1]; $class = null; }
    elseif ($m[2] !== '') { $class = "$space\\$m[2]"; $declared[$class] ??= []; }
    elseif (isset($m[7])) { $class = null; }
    elseif (($m[6] ?? '') !== '') { $declared[$class]["const $m[6]"] = true; }
    else { $declared[$class ?? ''][$class ? $m[3] : "$space\\$m[3]"] = [$m[4], $m[5] ?? '']; }
}
function type(?ReflectionType $t): string { return $t === null ? '' : preg_replace('/(?<![\w\\\\])(?=[A-Z]\w*[a-z])/', '\\', (string) $t); }
function sorted(string $type): string { $parts = explode('|', $type); sort($parts); return implode('|', $parts); }
function params(ReflectionFunctionAbstract $f): array {
    $all = [];
    foreach ($f->getParameters() as $p) {
        $all[] = trim(sorted(type($p->getType())) . ' ') . ' ' . ($p->isPassedByReference() ? '&' : '')
            . ($p->isVariadic() ? '...' : '') . '$' . $p->getName()
            . ($p->isDefaultValueAvailable()
                ? ' = ' . strtolower(json_encode($p->getDefaultValue(), JSON_UNESCAPED_SLASHES)) : '');
    }
    return $all;
}
$checked = 0;
$wrong = 0;
function compare(string $name, array $decl, ReflectionFunctionAbstract $f) {
    global $checked, $wrong;
    $checked++;
    $want = $decl[0] === '' ? [] : array_map(function ($p) {
        [$type, $rest] = str_starts_with($p, '$') ? ['', $p] : explode(' ', $p, 2);
        // What the expression means: reflection gives values.
        $rest = preg_replace_callback('/ = (.+)$/', fn($m) => ' = ' . json_encode(eval("return $m[1];"), JSON_UNESCAPED_SLASHES), $rest);
        return trim(sorted($type) . " $rest");
    }, explode(', ', $decl[0]));
    $got = array_map('trim', params($f));
    $norm = fn($list) => array_map(fn($p) => str_replace(["'", '"', '[]'], ['', '', '[]'], strtolower($p)), $list);
    if ($norm($want) !== $norm($got)
        || strtolower(sorted($decl[1])) !== strtolower(sorted(type($f->getReturnType())))) {
        $wrong++;
        echo "$name\n  stub: ", implode(', ', $want), " : $decl[1]\n  real: ", implode(', ', $got), " : ", type($f->getReturnType()), "\n";
    }
}
foreach ($declared as $class => $members) {
    foreach ($members as $member => $decl) {
        if ($class === '') {
            compare($member, $decl, new ReflectionFunction($member));
        } elseif (str_starts_with($member, 'const ')) {
            if (!defined("$class::" . substr($member, 6))) { $wrong++; echo "no $class::$member\n"; }
        } else {
            compare("$class::$member", $decl, new ReflectionMethod($class, $member));
        }
    }
}
// And nothing of the module is missing from the stubs.
$module = new ReflectionExtension('apus');
foreach ($module->getClasses() as $class) {
    if (!isset($declared[$class->getName()])) { $wrong++; echo "missing: {$class->getName()}\n"; continue; }
    foreach ($class->getMethods() as $m) {
        if ($m->getDeclaringClass()->getName() === $class->getName()
            && !isset($declared[$class->getName()][$m->getName()])) { $wrong++; echo "missing: {$class->getName()}::{$m->getName()}\n"; }
    }
}
foreach ($module->getFunctions() as $f) {
    if (!isset($declared[''][$f->getName()])) { $wrong++; echo "missing: {$f->getName()}\n"; }
}
var_dump($checked > 40, $wrong);
?>
--EXPECT--
valid
bool(true)
int(0)
