--TEST--
A tree of nodes in which a call waits is read by others, and not changed: DOM, SimpleXML, XPath, XSLT, readers and writers
--EXTENSIONS--
dom
simplexml
xsl
xmlreader
xmlwriter
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\Channel;
use function Apus\Coroutine\run;
use function Apus\go;

// What waits: a function that expressions call, and a stream that is read and written.
class Waiting
{
    public $context;
    public static ?Channel $go = null;
    private string $left = '<?xml version="1.0"?><r><a/><b/></r>';
    public static function wait(): string { self::$go?->pop(); return 'yes'; }
    public function stream_open() { return true; }
    public function stream_read($n) { self::wait(); [$now, $this->left] = [$this->left, '']; return $now; }
    public function stream_write($data) { self::wait(); return strlen($data); }
    public function stream_eof() { return $this->left === ''; }
    public function stream_stat() { return []; }
    public function url_stat() { return []; }
    public function stream_close() {}
    public function stream_flush() { return true; }
    public function stream_set_option($option, $a, $b) { return false; }
}
stream_wrapper_register('waiting', 'Waiting');

/** One call waits; meanwhile the others are attempted. */
function meanwhile(string $what, callable $call, array $others): void
{
    Waiting::$go = $go = new Channel(1);
    $ended = new Channel(1);
    go(function () use ($call, $ended) { $result = $call(); Waiting::$go = null; $ended->push($result); });
    echo "$what\n";
    foreach ($others as $name => $other) {
        try {
            $result = $other();
            echo "  $name: ", json_encode($result), "\n";
        } catch (Coroutine\ConflictException) {
            echo "  $name: refused\n";
        }
    }
    $go->close();
    echo '  => ', json_encode($ended->pop()), "\n";
}
function tree(): DOMDocument
{
    $document = new DOMDocument;
    $document->loadXML('<r><a n="1">x</a><a n="2"/><a n="3"/></r>');
    return $document;
}
function xpath(DOMDocument $of): DOMXPath
{
    $xpath = new DOMXPath($of);
    $xpath->registerNamespace('php', 'http://php.net/xpath');
    $xpath->registerPhpFunctions();
    return $xpath;
}
$slow = "//a[php:functionString('Waiting::wait') = 'yes']";

run(function () use ($slow) {
    $d = tree();
    $r = $d->documentElement;
    $x = xpath($d);
    $other = tree();
    $detached = $d->createElement('b');
    $attribute = $r->firstChild->getAttributeNode('n');
    meanwhile('DOMXPath::query()', fn () => $x->query($slow)->length, [
        'remove' => fn () => $r->remove(),
        'removeChild' => fn () => $r->removeChild($r->firstChild),
        'append' => fn () => $r->append('text'),
        'appendChild to another tree' => fn () => $other->documentElement->appendChild($r->firstChild),
        'adoptNode' => fn () => $other->adoptNode($r->firstChild),
        'removeAttribute' => fn () => $r->firstChild->removeAttribute('n'),
        'loadXML' => fn () => $d->loadXML('<x/>'),
        'textContent' => function () use ($r) { $r->textContent = ''; },
        'nodeValue of an attribute' => function () use ($attribute) { $attribute->value = '7'; },
        'the same DOMXPath' => fn () => $x->query('//a')->length,
        'another DOMXPath' => fn () => (new DOMXPath($d))->query('//a')->length,
        'getAttribute' => fn () => $r->firstChild->getAttribute('n'),
        'reading properties' => fn () => $r->firstChild->textContent . $d->getElementsByTagName('a')->length,
        'foreach' => function () use ($r) { foreach ($r->childNodes as $n) { $names[] = $n->nodeName; } return $names; },
        'saveXML' => fn () => strlen($d->saveXML()),
        'createElement' => fn () => $d->createElement('c')->nodeName,
        'cloneNode' => fn () => $d->cloneNode(true)->documentElement->firstChild->remove(),
        'another tree' => fn () => $other->documentElement->firstChild->remove(),
        'a class of the program' => fn () => (new class('n', 'x') extends DOMElement {})->nodeValue,
        'SimpleXML of it' => fn () => simplexml_import_dom($r)->addChild('s')->getName(),
    ]);
    echo $r->childNodes->length, ' ', $r->removeChild($r->firstChild)->nodeName, ' ', $x->query('//a')->length, "\n";

    $d = tree();
    meanwhile('DOMDocument::save()', fn () => $d->save('waiting://out'), [
        'remove' => fn () => $d->documentElement->remove(),
        'saveXML' => fn () => strlen($d->saveXML()),
    ]);

    $s = simplexml_load_string('<r><a n="1">x</a><a n="2"/></r>');
    $node = dom_import_simplexml($s->a[0]);
    meanwhile('SimpleXMLElement::asXML()', fn () => $s->asXML('waiting://out'), [
        'a property' => function () use ($s) { $s->a = 'y'; },
        'a property of a new element' => function () use ($s) { $s->new->deep = 'y'; },
        'a new element by number' => function () use ($s) { $s->a[5]->deep = 'y'; },
        'an attribute' => function () use ($s) { $s->a['n'] = '7'; },
        'unset()' => function () use ($s) { unset($s->a); },
        'unset() of an attribute' => function () use ($s) { unset($s->a['n']); },
        'addChild()' => fn () => $s->addChild('b'),
        'remove() by DOM' => fn () => $node->remove(),
        'reading' => fn () => $s->a[0]['n'] . $s->a . count($s->a) . $s->count() . count($s->xpath('//a')) . isset($s->b),
        'foreach' => function () use ($s) { foreach ($s->a as $name => $a) { $names[] = $name . $a['n']; } return $names; },
    ]);
    $s->a[1]->deep = 'y';
    unset($s->a[0]);
    echo preg_replace('~<\?.*\s~', '', $s->asXML());

    $style = new DOMDocument;
    $style->loadXML("<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform' xmlns:php='http://php.net/xsl'><xsl:template match='/'>"
        . "<o><xsl:for-each select='//a'><xsl:value-of select=\"php:functionString('Waiting::wait')\"/></xsl:for-each></o></xsl:template></xsl:stylesheet>");
    $t = new XSLTProcessor;
    $t->registerPHPFunctions();
    $t->importStylesheet($style);
    $d = tree();
    meanwhile('XSLTProcessor::transformToXml()', fn () => substr($t->transformToXml($d), 22), [
        'importStylesheet()' => fn () => $t->importStylesheet($style),
        'remove' => fn () => $d->documentElement->remove(),
        'nodeValue' => function () use ($d) { $d->documentElement->nodeValue = ''; },
        'the stylesheet' => fn () => $style->documentElement->remove(),
    ]);

    $reader = new XMLReader;
    Waiting::$go = null;
    $reader->open('waiting://in');
    meanwhile('XMLReader::read()', fn () => $reader->read(), ['close' => fn () => $reader->close(), 'expand' => fn () => $reader->expand()]);
    $writer = new XMLWriter;
    $writer->openUri('waiting://out');
    $writer->writeElement('a', 'text');
    meanwhile('XMLWriter::flush()', fn () => $writer->flush(), [
        'writeElement' => fn () => $writer->writeElement('b'), 'xmlwriter_flush' => fn () => xmlwriter_flush($writer),
    ]);

    Waiting::$go = $go = new Channel(1);
    go(fn () => $x->query($slow));
    try {
        $x->document->documentElement->remove();
    } catch (Coroutine\ConflictException $e) {
        echo preg_replace('/\d+/', 'N', $e->getMessage()), "\n";
    }
    $go->close();
});
?>
--EXPECT--
DOMXPath::query()
  remove: refused
  removeChild: refused
  append: refused
  appendChild to another tree: refused
  adoptNode: refused
  removeAttribute: refused
  loadXML: refused
  textContent: refused
  nodeValue of an attribute: refused
  the same DOMXPath: refused
  another DOMXPath: 3
  getAttribute: "1"
  reading properties: "x3"
  foreach: ["a","a","a"]
  saveXML: 64
  createElement: "c"
  cloneNode: null
  another tree: null
  a class of the program: "x"
  SimpleXML of it: refused
  => 3
3 a 2
DOMDocument::save()
  remove: refused
  saveXML: 64
  => 64
SimpleXMLElement::asXML()
  a property: refused
  a property of a new element: refused
  a new element by number: refused
  an attribute: refused
  unset(): refused
  unset() of an attribute: refused
  addChild(): refused
  remove() by DOM: refused
  reading: "1x222"
  foreach: ["a1","a2"]
  => true
<r><a n="2"><deep>y</deep></a></r>
XSLTProcessor::transformToXml()
  importStylesheet(): refused
  remove: refused
  nodeValue: refused
  the stylesheet: null
  => "<o xmlns:php=\"http:\/\/php.net\/xsl\">yesyesyes<\/o>\n"
XMLReader::read()
  close: refused
  expand: refused
  => true
XMLWriter::flush()
  writeElement: refused
  xmlwriter_flush: refused
  => 11
coroutine N calls DOMElement::remove() on a document in which coroutine N waits in Apus\Coroutine\Channel::pop(): change it when that call has returned, or give each coroutine a clone
