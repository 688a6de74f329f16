'use strict';

// What is taken for an address. The first form has a repetition in a repetition, and so there are many ways to read a long word.
const NESTED = /^([a-z0-9]+[._-]?)+@([a-z0-9]+[.-]?)+\.[a-z]{2,}$/i;
const PLAIN = /^[a-z0-9]+(?:[._-][a-z0-9]+)*@[a-z0-9]+(?:[.-][a-z0-9]+)*\.[a-z]{2,}$/i;

// Subscriptions to the programme. An address that is none is not accepted.
class Subscriptions {
  constructor() {
    this.accepted = 0;
    this.form = process.env.FAULT === 'nested-repetition' ? NESTED : PLAIN;
  }

  async create(data) {
    const accepted = this.form.test(String(data.email || ''));
    if (accepted) this.accepted++;
    return { accepted };
  }
}

module.exports = { Subscriptions };
