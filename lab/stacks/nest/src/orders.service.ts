import { Injectable, NotFoundException } from '@nestjs/common';
import { DatabaseService } from './database.service';
import { fault } from './fault';

const PAGE = 200;

@Injectable()
export class OrdersService {
  constructor(private readonly database: DatabaseService) {}

  async find(id: number) {
    const order = await this.database.knex('orders').select('id', 'reference', 'status', 'note').where({ id: id % 300_000 }).first();
    if (!order) throw new NotFoundException();
    return order;
  }

  /** Lists orders by their number from one on. A list has 200; with the fault it has all of a quarter. */
  async list(from: number) {
    const orders = await this.database
      .knex('orders')
      .select('id', 'reference', 'status', 'note', 'placed_at')
      .where('id', '>=', from % 280_000)
      .orderBy('id')
      .limit(fault('whole-quarter') ? 20_000 : PAGE);
    return orders.map((order) => ({ ...order, placed_at: order.placed_at.toISOString(), words: order.note.split(' ').length }));
  }
}
