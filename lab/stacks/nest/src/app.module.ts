import { Module } from '@nestjs/common';
import { DatabaseService } from './database.service';
import { InsurerService } from './insurer.service';
import { OrdersController } from './orders.controller';
import { OrdersService } from './orders.service';
import { TransportsController } from './transports.controller';
import { TransportsService } from './transports.service';

@Module({
  controllers: [OrdersController, TransportsController],
  providers: [DatabaseService, InsurerService, OrdersService, TransportsService],
})
export class AppModule {}
