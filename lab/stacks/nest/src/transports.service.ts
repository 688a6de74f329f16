import { Injectable } from '@nestjs/common';
import { Knex } from 'knex';
import { DatabaseService } from './database.service';
import { fault } from './fault';
import { InsurerService } from './insurer.service';

@Injectable()
export class TransportsService {
  constructor(
    private readonly database: DatabaseService,
    private readonly insurer: InsurerService,
  ) {}

  /** Books a transport, which is insured first; with the fault within the transaction. */
  async book(order: number) {
    if (fault('call-in-transaction')) {
      return this.database.knex.transaction(async (tx) => this.enter(tx, order, await this.insurer.insure(order)));
    }
    const receipt = await this.insurer.insure(order);
    return this.database.knex.transaction((tx) => this.enter(tx, order, receipt));
  }

  private async enter(tx: Knex.Transaction, order: number, receipt: string) {
    const [payment] = await tx('payments').insert({ product_id: order % 2000, amount_cents: 2900, receipt }).returning('id');
    return { transport: payment.id, receipt };
  }
}
