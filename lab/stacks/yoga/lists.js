'use strict';
const { Between, In, LessThan } = require('typeorm');
const { dataSource, Order } = require('./entities');

// firstOfQuantity returns some orders of a quantity with their products. With the fault take and a join are in one find: TypeORM then selects the
// distinct ids of all joined rows first.
exports.firstOfQuantity = async function firstOfQuantity(quantity, count) {
  const orders = dataSource.getRepository(Order);
  if (process.env.FAULT === 'take-with-join') {
    return orders.find({ where: { quantity }, relations: { product: true }, order: { reference: 'DESC' }, take: count });
  }
  const ids = await orders.find({ select: { id: true }, where: { quantity, id: LessThan(2000) }, order: { id: 'DESC' }, take: count });
  return orders.find({ where: { id: In(ids.map((order) => order.id)) }, relations: { product: true } });
};

// turnoverOfCustomers adds up the orders of some customers. With the fault it loads them as entities to do so.
exports.turnoverOfCustomers = async function turnoverOfCustomers(from, to) {
  const orders = dataSource.getRepository(Order);
  if (process.env.FAULT === 'entities-to-sum') {
    const all = await orders.find({ where: { customerId: Between(from, to) }, relations: { product: true } });
    return all.reduce((sum, order) => ({
      orders: sum.orders + 1,
      cents: sum.cents + order.totalCents,
      list: sum.list + order.quantity * (order.product ? order.product.priceCents : 0),
    }), { orders: 0, cents: 0, list: 0 });
  }
  const [sum] = await dataSource.query(
    'select count(*) as orders, sum(total_cents) as cents, sum(quantity * price_cents) as list from orders join products on products.id = product_id where customer_id between ? and ?', [from, to]);
  return { orders: Number(sum.orders), cents: Number(sum.cents), list: Number(sum.list) };
};
