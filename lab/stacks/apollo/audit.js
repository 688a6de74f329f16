// The audit of a mail-order house: who has read which customer, told to the auditors' service before the answer goes out.
'use strict';
const http = require('node:http');

class Audit {
  constructor(address, inOrder) {
    this.address = address;
    this.agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
    this.inOrder = inOrder;
    this.last = Promise.resolve();
  }

  // Entries are numbered where they arrive. With the fault they are also sent one after the other.
  note(entry) {
    if (!this.inOrder) return this.send(entry);
    const sent = this.last.then(() => this.send(entry));
    this.last = sent.catch(() => {});
    return sent;
  }

  send(entry) {
    const [host, port] = this.address.split(':');
    return new Promise((resolve, reject) => {
      const request = http.request({ host, port, path: '/entries/' + entry, agent: this.agent, timeout: 20000 }, (response) => {
        response.resume();
        response.on('end', resolve);
        response.on('error', reject);
      });
      request.on('timeout', () => request.destroy(new Error('the audit does not answer')));
      request.on('error', reject);
      request.end();
    });
  }
}

module.exports = { Audit };
