// The contender Node: server.js CERT KEY.
const fs = require('fs');
const http2 = require('http2');

const large = Buffer.alloc(1 << 20, 'x');
const options = { cert: fs.readFileSync(process.argv[2]), key: fs.readFileSync(process.argv[3]), allowHTTP1: true };
const server = http2.createSecureServer(options, (request, response) => {
  response.end(request.url === '/large' ? large : 'hello');
});
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`));
