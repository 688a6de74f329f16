// The bank that reserves deposits, over HTTP.
'use strict';
const http = require('node:http');

class Bank {
  constructor(address) {
    this.address = address;
    this.agent = new http.Agent({ keepAlive: true, maxSockets: 128 });
  }

  reserve(ski) {
    return new Promise((resolve, reject) => {
      http.get({ ...this.address, agent: this.agent, path: `/reservations/${ski}` }, (res) => {
        let text = '';
        res.setEncoding('utf8');
        res.on('data', (chunk) => { text += chunk; });
        res.on('end', () => {
          try {
            resolve(JSON.parse(text).receipt);
          } catch (err) {
            reject(err);
          }
        });
        res.on('error', reject);
      }).on('error', reject);
    });
  }
}

module.exports = { Bank };
