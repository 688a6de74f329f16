package garden;

import io.micronaut.data.annotation.Id;
import io.micronaut.data.annotation.MappedEntity;

@MappedEntity("orders")
public record PlacedOrder(@Id int id, int customerId, int productId, long totalCents, String status) {}
