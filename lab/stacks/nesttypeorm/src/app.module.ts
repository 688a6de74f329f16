import { MiddlewareConsumer, Module, NestModule } from '@nestjs/common';
import { dataSourceProvider } from './data-source';
import { LaboratoryService } from './laboratory.service';
import { LotsController } from './lots.controller';
import { LotsService } from './lots.service';
import { RequestLog } from './request-log';
import { RoastersController } from './roasters.controller';
import { RoastersService } from './roasters.service';
import { TillsController } from './tills.controller';
import { TillsService } from './tills.service';

@Module({
  controllers: [LotsController, RoastersController, TillsController],
  providers: [dataSourceProvider, LaboratoryService, LotsService, RoastersService, TillsService],
})
export class AppModule implements NestModule {
  configure(consumer: MiddlewareConsumer) {
    consumer.apply(RequestLog).forRoutes('*path');
  }
}
