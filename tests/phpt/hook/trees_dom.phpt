--TEST--
A tree of nodes in which a call waits is not changed: the classes of PHP 8.4's Dom
--EXTENSIONS--
dom
--SKIPIF--
<?php if (PHP_VERSION_ID < 80400) die('skip classes of PHP 8.4'); ?>
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\Channel;
use function Apus\Coroutine\run;
use function Apus\go;

function attempt(string $what, callable $other): void
{
    try {
        $result = $other();
        echo "$what: ", json_encode($result), "\n";
    } catch (Coroutine\ConflictException) {
        echo "$what: refused\n";
    }
}

run(function () {
    $document = Dom\HTMLDocument::createFromString('<!DOCTYPE html><p class="one">text</p><p>more</p>');
    $p = $document->querySelector('p');
    $tokens = $p->classList;
    $xpath = new Dom\XPath($document);
    $go = new Channel;
    $found = new Channel(1);
    $xpath->registerPhpFunctionNS('urn:test', 'wait', function () use (&$go) { $go->pop(); return 'yes'; });
    $xpath->registerNamespace('t', 'urn:test');
    go(fn () => $found->push($xpath->query("//*[local-name() = 'p'][t:wait() = 'yes']")->length));
    attempt('remove', fn () => $p->remove());
    attempt('replaceChildren', fn () => $document->body->replaceChildren());
    attempt('innerHTML', function () use ($p) { $p->innerHTML = ''; });
    attempt('className', function () use ($p) { $p->className = 'two'; });
    attempt('classList->add', fn () => $tokens->add('two'));
    attempt('classList->value', function () use ($tokens) { $tokens->value = 'two'; });
    attempt('substitutedNodeValue', function () use ($p) { $p->substitutedNodeValue = ''; });
    attempt('importNode into another', fn () => Dom\HTMLDocument::createEmpty()->importNode($p, true)->textContent);
    attempt('the same XPath', fn () => $xpath->query('//*')->length);
    attempt('another XPath', fn () => (new Dom\XPath($document))->query('//*')->length);
    attempt('querySelectorAll', fn () => $document->querySelectorAll('p')->length);
    attempt('classList->contains', fn () => $tokens->contains('one'));
    attempt('saveHtml', fn () => strlen($document->saveHtml()));
    attempt('reading properties', fn () => $document->body->innerHTML);
    $go->close();
    echo $found->pop(), "\n";
    attempt(
        'then',
        function () use ($p, $tokens) {
            $tokens->add('two');
            $p->innerHTML = 'x';
            $p->remove();
            return $p->className . $p->textContent;
        },
    );
});
?>
--EXPECT--
remove: refused
replaceChildren: refused
innerHTML: refused
className: refused
classList->add: refused
classList->value: refused
substitutedNodeValue: refused
importNode into another: refused
the same XPath: refused
another XPath: 5
querySelectorAll: 2
classList->contains: true
saveHtml: 88
reading properties: "<p class=\"one\">text<\/p><p>more<\/p>"
2
then: "one twox"
