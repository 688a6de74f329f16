package garden;

import io.micronaut.data.annotation.Id;
import io.micronaut.data.annotation.MappedEntity;

@MappedEntity("products")
public record Plant(@Id int id, String sku, String name, int priceCents, int stock) {}
