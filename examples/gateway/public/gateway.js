/* A connection to the gateway that comes back by itself.
 *
 *   const gateway = new Gateway('wss://push.example.org/', { query: { token } });
 *   gateway.onmessage = message => …;      // each message once, in order
 *   gateway.onstate = state => …;          // { name: 'connecting' | 'open' | 'waiting' | 'refused' | 'closed', … }
 *
 * It answers messages that want to be acknowledged when onmessage has returned; one that throws is sent again after a reconnect. */
class Gateway {
  /* Milliseconds: the first pause, and the longest. */
  static FIRST_PAUSE = 300;
  static LONGEST_PAUSE = 30000;
  /* A connection that has lived so long starts anew with the first pause. */
  static STEADY_AFTER = 5000;
  /* Ids of messages that were shown, so that one that is sent again is not shown twice. */
  static REMEMBERED = 1000;

  constructor(address, { query = {} } = {}) {
    this.address = new URL(address, location.href);
    this.address.protocol = this.address.protocol.replace('http', 'ws');
    for (const [name, value] of Object.entries(query)) this.address.searchParams.set(name, value);
    this.onmessage = this.onstate = () => {};
    this.failures = 0;
    this.seen = new Set();
    this.online = () => this.timer && this.connect();
    addEventListener('online', this.online);
    /* The page sets its callbacks first. */
    this.timer = setTimeout(() => this.connect(), 0);
  }

  connect() {
    clearTimeout(this.timer);
    this.timer = null;
    this.set('connecting', { attempt: this.failures + 1 });
    const socket = this.socket = new WebSocket(this.address);
    let opened = 0;
    socket.onopen = () => { opened = Date.now(); this.set('open'); };
    socket.onmessage = event => this.receive(event.data);
    socket.onclose = event => {
      if (this.socket !== socket) return;
      this.failures = opened && Date.now() - opened > Gateway.STEADY_AFTER ? 0 : this.failures + 1;
      opened ? this.wait(`closed with ${event.code} ${event.reason}`.trim()) : this.ask();
    };
  }

  /* A browser does not say why a handshake failed; the gateway does. */
  async ask() {
    const check = new URL('check' + this.address.search, this.address);
    check.protocol = check.protocol.replace('ws', 'http');
    let why = 'not reachable', refused = false;
    try {
      const credentials = this.address.searchParams.has('token') ? 'same-origin' : 'include';
      const answer = await fetch(check, { cache: 'no-store', credentials, signal: AbortSignal.timeout(5000) });
      refused = [400, 401, 403].includes(answer.status);
      why = answer.ok ? 'the connection failed' : (await answer.json()).error;
    } catch { /* It stays unreachable. */ }
    if (this.socket) refused ? this.set('refused', { why }) : this.wait(why);
  }

  /* Twice as long after each failure, and by chance between half of it and all: not all browsers come back at once. */
  wait(why) {
    const most = Math.min(Gateway.LONGEST_PAUSE, Gateway.FIRST_PAUSE * 2 ** Math.min(this.failures, 20));
    const pause = most * (0.5 + Math.random() / 2);
    this.set('waiting', { why, pause, until: Date.now() + pause });
    this.timer = setTimeout(() => this.connect(), pause);
  }

  receive(text) {
    const message = JSON.parse(text);
    const { id } = message;
    if (id === undefined || !this.seen.has(id)) this.onmessage(message);
    if (id === undefined) return;
    this.seen.add(id);
    if (this.seen.size > Gateway.REMEMBERED) this.seen.delete(this.seen.values().next().value);
    this.send({ ack: id });
  }

  /* False when it is not connected. */
  send(value) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(value));
    return true;
  }

  subscribe(topic) { return this.send({ subscribe: topic }); }

  unsubscribe(topic) { return this.send({ unsubscribe: topic }); }

  close() {
    const { socket } = this;
    this.socket = null;
    clearTimeout(this.timer);
    removeEventListener('online', this.online);
    socket?.close();
    this.set('closed');
  }

  set(name, more = {}) {
    this.state = { name, ...more };
    this.onstate(this.state);
  }
}
