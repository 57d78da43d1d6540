--TEST--
Request: uploaded files; is_uploaded_file, move_uploaded_file; what stays is removed
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

$folder = sys_get_temp_dir() . '/apus-uploads-' . getmypid();
mkdir("$folder/tmp", recursive: true);
mkdir("$folder/kept");
serving(
    function (Apus\Http\Request $request, Apus\Http\Response $response) use ($folder): void {
        $files = $request->files;
        $shown = $files;
        array_walk_recursive($shown, function (&$value, $key) use ($folder): void {
            if (is_string($value) && str_starts_with($value, "$folder/tmp/")) {
                $value = 'TMP';
            }
        });
        $response->write(json_encode($shown, JSON_UNESCAPED_SLASHES | JSON_PRETTY_PRINT) . "\n");
        $response->write('post ' . json_encode($request->post) . ' raw ' . var_export($request->rawContent(), true) . "\n");
        $tmp = $files['one']['tmp_name'] ?? null;
        if ($tmp) {
            $facts = [
                'tmpfiles' => $request->tmpfiles === [$tmp, ...array_column($files['list'], 'tmp_name')],
                'uploaded' => is_uploaded_file($tmp),
                'not uploaded' => is_uploaded_file(__FILE__),
                'mode' => decoct(fileperms($tmp) & 0777),
                'moved' => move_uploaded_file($tmp, "$folder/kept/one"),
                'moved twice' => move_uploaded_file($tmp, "$folder/kept/two"),
                'other moved' => move_uploaded_file(__FILE__, "$folder/kept/three"),
                'content' => file_get_contents("$folder/kept/one"),
            ];
            $response->write(json_encode($facts) . "\n");
        }
        $response->end();
    },
    function (Client $client) use ($folder): void {
        file_put_contents("$folder/a.txt", 'the text');
        file_put_contents("$folder/b.bin", str_repeat("\0\xff", 3000));
        file_put_contents("$folder/big", str_repeat('x', 70_000));
        file_put_contents("$folder/none", '');
        echo $client->curl('-F', 'name=a value', '-F', 'map[k][]=v', '-F', "one=@$folder/a.txt", '-F', "list[]=@$folder/b.bin;type=image/x-odd", '-F', "list[]=@$folder/none;filename=../../etc/passwd", '/');
        echo $client->curl('-F', "big=@$folder/big", '-F', 'after=yes', '/');
        echo $client->curl('-F', "a=@$folder/a.txt", '-F', "b=@$folder/a.txt", '-F', "c=@$folder/a.txt", '-F', "d=@$folder/a.txt", '/');
        // The form of a file field that nothing was chosen for.
        $body = "--B\r\nContent-Disposition: form-data; name=\"none\"; filename=\"\"\r\n\r\n\r\n--B--\r\n";
        echo plain($client->raw("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: " . strlen($body) . "\r\n\r\n$body")), "\n";
    },
    ['upload_tmp_dir' => "$folder/tmp", 'upload_max_filesize' => '64K', 'max_file_uploads' => 3],
);
echo 'left in the temporary folder: ', count(glob("$folder/tmp/*")), ', kept: ', implode(' ', array_map('basename', glob("$folder/kept/*"))), "\n";
exec('rm -r ' . escapeshellarg($folder));
?>
--EXPECT--
{
    "one": {
        "name": "a.txt",
        "full_path": "a.txt",
        "type": "text/plain",
        "tmp_name": "TMP",
        "error": 0,
        "size": 8
    },
    "list": [
        {
            "name": "b.bin",
            "full_path": "b.bin",
            "type": "image/x-odd",
            "tmp_name": "TMP",
            "error": 0,
            "size": 6000
        },
        {
            "name": "passwd",
            "full_path": "../../etc/passwd",
            "type": "application/octet-stream",
            "tmp_name": "TMP",
            "error": 0,
            "size": 0
        }
    ]
}
post {"name":"a value","map":{"k":["v"]}} raw false
{"tmpfiles":true,"uploaded":true,"not uploaded":false,"mode":"600","moved":true,"moved twice":false,"other moved":false,"content":"the text"}
{
    "big": {
        "name": "big",
        "full_path": "big",
        "type": "",
        "tmp_name": "",
        "error": 1,
        "size": 0
    }
}
post {"after":"yes"} raw false
{
    "a": {
        "name": "a.txt",
        "full_path": "a.txt",
        "type": "text/plain",
        "tmp_name": "TMP",
        "error": 0,
        "size": 8
    },
    "b": {
        "name": "a.txt",
        "full_path": "a.txt",
        "type": "text/plain",
        "tmp_name": "TMP",
        "error": 0,
        "size": 8
    },
    "c": {
        "name": "a.txt",
        "full_path": "a.txt",
        "type": "text/plain",
        "tmp_name": "TMP",
        "error": 0,
        "size": 8
    }
}
post null raw false
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Transfer-Encoding: chunked
Connection: close

97
{
    "none": {
        "name": "",
        "full_path": "",
        "type": "",
        "tmp_name": "",
        "error": 4,
        "size": 0
    }
}

14
post null raw false

0
left in the temporary folder: 0, kept: one
