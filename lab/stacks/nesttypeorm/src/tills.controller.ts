import { Controller, HttpCode, Param, ParseIntPipe, Post } from '@nestjs/common';
import { TillsService } from './tills.service';

@Controller('tills')
export class TillsController {
  constructor(private readonly tills: TillsService) {}

  @Post(':id/cup')
  @HttpCode(200)
  sell(@Param('id', ParseIntPipe) id: number) {
    return this.tills.sell(id);
  }
}
