import { Injectable, NotFoundException } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Cupping, Lot, Sample } from './entities';
import { fault } from './fault';
import { LaboratoryService } from './laboratory.service';

const LOTS = 40_000;
const FARMS = 800;

@Injectable()
export class LotsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly laboratory: LaboratoryService,
  ) {}

  async find(id: number): Promise<Lot> {
    const lot = await this.dataSource.getRepository(Lot).findOneBy({ id: id % LOTS });
    if (!lot) throw new NotFoundException();
    return lot;
  }

  /** The best cuppings of a farm's lots, which are joined by the number of the lot, with the fault by its code, which has no index. */
  cuppingsOfFarm(farm: number) {
    return this.dataSource
      .getRepository(Cupping)
      .createQueryBuilder('c')
      .innerJoin(Lot, 'l', fault('join-by-code') ? 'l.code = c.lot_code' : 'l.id = c.lot_id')
      .where('l.farm_id = :farm', { farm: farm % FARMS })
      .orderBy('c.score', 'DESC')
      .limit(20)
      .getMany();
  }

  async sample(lot: number) {
    const receipt = await this.laboratory.announce(lot);
    const { id } = await this.dataSource.getRepository(Sample).save({ lot: lot % LOTS, receipt });
    return { sample: id, receipt };
  }

  /** What each taster thinks, from all cuppings. */
  tasters() {
    return this.dataSource.getRepository(Cupping).createQueryBuilder('c').select('c.taster', 'taster').addSelect('avg(c.score)', 'score').groupBy('c.taster').getRawMany();
  }
}
