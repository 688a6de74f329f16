// Parts that a supplier has, who is asked for some at a time.
'use strict';
const Bottleneck = require('bottleneck');
const { Agent, fetch } = require('undici');

exports.openParts = (address) => {
  const agent = new Agent({ connections: 48, keepAliveTimeout: 60000 });
  const limiter = new Bottleneck({ maxConcurrent: process.env.FAULT === 'two-at-a-time' ? 2 : 40 });
  const ask = async (id) => (await fetch(`http://${address}/parts/${id}`, { dispatcher: agent })).json();
  return { ask: (id) => limiter.schedule(ask, id) };
};
