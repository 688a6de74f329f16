import { setTimeout as wait } from 'node:timers/promises';
import { Controller, Get, HttpCode, Param, ParseIntPipe, Post } from '@nestjs/common';
import { TransportsService } from './transports.service';

@Controller('transports')
export class TransportsController {
  constructor(private readonly transports: TransportsService) {}

  @Post(':order')
  @HttpCode(200)
  book(@Param('order', ParseIntPipe) order: number) {
    return this.transports.book(order);
  }

  /** Answers when the van is near, or after five seconds. */
  @Get(':order/position')
  async position(@Param('order', ParseIntPipe) order: number) {
    await wait(5000);
    return { order, position: null };
  }
}
