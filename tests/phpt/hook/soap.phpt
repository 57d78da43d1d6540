--TEST--
SOAP clients and servers of several services at once: each call has its own types
--EXTENSIONS--
soap
--INI--
soap.wsdl_cache_enabled=0
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

class OfA { public $num; public $list; }
class OfB { public $num; public $list; }

class Client extends SoapClient
{
    public float $wait = 0;

    public function __doRequest(
        string $request,
        string $location,
        string $action,
        int $version,
        bool $oneWay = false,
    ): ?string
    {
        $name = basename($location);
        $this->wait > 0 && Coroutine::sleep($this->wait);
        return "<?xml version='1.0'?><SOAP-ENV:Envelope xmlns:SOAP-ENV='http://schemas.xmlsoap.org/soap/envelope/' xmlns:n='urn:$name'><SOAP-ENV:Body>"
            . '<n:opResponse><return><num>42</num><list>1</list></return></n:opResponse></SOAP-ENV:Body></SOAP-ENV:Envelope>';
    }
}

function wsdl(string $n): string
{
    $file = __DIR__ . "/soap-$n.wsdl";
    file_put_contents($file, <<<XML
        <definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xsd="http://www.w3.org/2001/XMLSchema"
            xmlns:t="urn:$n" targetNamespace="urn:$n" name="$n">
        <types><xsd:schema targetNamespace="urn:$n"><xsd:complexType name="T$n"><xsd:sequence>
            <xsd:element name="num" type="xsd:int"/><xsd:element name="list" type="xsd:string" maxOccurs="unbounded"/>
        </xsd:sequence></xsd:complexType></xsd:schema></types>
        <message name="opRequest"><part name="x" type="xsd:int"/></message>
        <message name="opResponse"><part name="return" type="t:T$n"/></message>
        <portType name="P"><operation name="op"><input message="t:opRequest"/><output message="t:opResponse"/></operation></portType>
        <binding name="B" type="t:P"><soap:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/>
            <operation name="op"><soap:operation soapAction="op"/>
                <input><soap:body use="literal" namespace="urn:$n"/></input><output><soap:body use="literal" namespace="urn:$n"/></output>
            </operation></binding>
        <service name="S"><port name="P" binding="t:B"><soap:address location="http://127.0.0.1:1/$n"/></port></service>
        </definitions>
        XML);
    return $file;
}

$files = ['a' => wsdl('a'), 'b' => wsdl('b')];

function call(string $n, float $wait): string
{
    $options = ['classmap' => ["T$n" => 'Of' . strtoupper($n)], 'features' => $n === 'a' ? SOAP_SINGLE_ELEMENT_ARRAYS : 0];
    $client = new Client($GLOBALS['files'][$n], $options);
    $client->wait = $wait;
    $result = $client->op(1);
    return get_class($result) . json_encode($result);
}

function op($x): OfA
{
    Coroutine::getCid() > 0 && Coroutine::sleep(Coroutine::getContext()['wait']);
    $result = new OfA;
    $result->num = 42;
    $result->list = ['1', '2'];
    return $result;
}

function serve(string $n): string
{
    $server = new SoapServer($GLOBALS['files'][$n], ['classmap' => ["T$n" => 'OfA']]);
    $server->addFunction('op');
    ob_start();
    $server->handle("<?xml version='1.0'?><SOAP-ENV:Envelope xmlns:SOAP-ENV='http://schemas.xmlsoap.org/soap/envelope/' xmlns:n='urn:$n'><SOAP-ENV:Body><n:op><x>1</x></n:op></SOAP-ENV:Body></SOAP-ENV:Envelope>");
    return ob_get_clean();
}

echo call('a', 0), ' ', call('b', 0), "\n";
$alone = ['a' => serve('a'), 'b' => serve('b')];
$wrong = [];
run(function () use ($alone, &$wrong) {
    $calls = ['a' => 'OfA{"num":42,"list":["1"]}', 'b' => 'OfB{"num":42,"list":"1"}'];
    for ($i = 0; $i < 6; $i++) {
        foreach (['a', 'b'] as $at => $n) {
            go(function () use ($n, $i, $at, $calls, &$wrong) {
                $got = call($n, 0.001 * (1 + ($i + $at) % 3));
                if ($got !== $calls[$n]) {
                    $wrong[] = "$n: $got";
                }
            });
            go(function () use ($n, $i, $at, $alone, &$wrong) {
                Coroutine::getContext()['wait'] = 0.001 * (1 + ($i + $at) % 2);
                $got = serve($n);
                if ($got !== $alone[$n]) {
                    $wrong[] = "$n served: $got";
                }
            });
        }
    }
});
echo count($wrong), " wrong\n", implode("\n", array_slice($wrong, 0, 3));
?>
--CLEAN--
<?php
@unlink(__DIR__ . '/soap-a.wsdl');
@unlink(__DIR__ . '/soap-b.wsdl');
--EXPECT--
OfA{"num":42,"list":["1"]} OfB{"num":42,"list":"1"}
0 wrong
