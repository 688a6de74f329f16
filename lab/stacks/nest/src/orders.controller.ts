import { Controller, Get, Param, ParseIntPipe } from '@nestjs/common';
import { OrdersService } from './orders.service';

@Controller('orders')
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Get(':id')
  find(@Param('id', ParseIntPipe) id: number) {
    return this.orders.find(id);
  }

  @Get('from/:id')
  list(@Param('id', ParseIntPipe) id: number) {
    return this.orders.list(id);
  }
}
