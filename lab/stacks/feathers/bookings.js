'use strict';

// Bookings of courses: a seat is taken, and the bank takes the money.
class Bookings {
  constructor(db, bank) {
    this.db = db;
    this.bank = bank;
  }

  async create(data) {
    const course = Number(data.course);
    if (process.env.FAULT === 'pay-in-transaction') {
      return this.db.transaction(async (trx) => {
        const [taken] = await trx('products').where({ id: course }).decrement('stock', 1).returning(['id', 'price_cents']);
        const { receipt } = await this.pay(taken);
        await trx('payments').insert({ product_id: course, amount_cents: taken.price_cents, receipt });
        return { course, receipt };
      });
    }
    const priced = await this.db('products').where({ id: course }).first('id', 'price_cents');
    const { receipt } = await this.pay(priced);
    await this.db.transaction(async (trx) => {
      await trx('products').where({ id: course }).decrement('stock', 1);
      await trx('payments').insert({ product_id: course, amount_cents: priced.price_cents, receipt });
    });
    return { course, receipt };
  }

  async pay(course) {
    const { data } = await this.bank.get('/pay', { params: { course: course.id, cents: course.price_cents } });
    return data;
  }
}

module.exports = { Bookings };
