// Returns of cars. What is to be paid is written in a transaction that LoopBack ends after some seconds.
'use strict';

const fault = (name) => process.env.FAULT === name;

exports.returnCar = async (Car, Payment, number) => {
  const transaction = await Payment.beginTransaction({ isolationLevel: 'READ COMMITTED', timeout: 6800 });
  try {
    const car = await Car.findById(number % 2000, undefined, { transaction });
    if (number % 10 === 3) { // damaged: an inspector decides what is to be paid
      if (!fault('transaction-left')) {
        await transaction.rollback();
      }
      return { car: car.name, inspection: true };
    }
    const payment = await Payment.create({ product_id: car.id, amount_cents: car.price_cents, receipt: `r-${number}` }, { transaction });
    await transaction.commit();
    return { car: car.name, payment: payment.id };
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
};
