// Draws a label and has it printed.
'use strict';
const http = require('node:http');

const agent = new http.Agent({ keepAlive: true });

module.exports = async ({ order, printer }) => {
  const lines = [];
  for (let row = 0; row < 60; row++) {
    let line = '';
    for (let dot = 0; dot < 40; dot++) line += (order * 31 + row * 7 + dot * dot) % 3 ? ' ' : '#';
    lines.push(line);
  }
  return { order, dots: lines.join('').length, receipt: await print(printer, lines.join('\n')) };
};

function print(printer, text) {
  return new Promise((resolve, reject) => {
    const request = http.request('http://' + printer + '/labels', { method: 'POST', agent }, (response) => {
      let body = '';
      response.on('data', (part) => { body += part; });
      response.on('end', () => resolve(JSON.parse(body).receipt));
    });
    request.on('error', reject);
    request.end(text);
  });
}
