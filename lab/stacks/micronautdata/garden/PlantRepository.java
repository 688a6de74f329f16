package garden;

import io.micronaut.data.annotation.Query;
import io.micronaut.data.jdbc.annotation.JdbcRepository;
import io.micronaut.data.model.query.builder.sql.Dialect;
import io.micronaut.data.repository.CrudRepository;

@JdbcRepository(dialect = Dialect.POSTGRES)
public interface PlantRepository extends CrudRepository<Plant, Integer> {
    @Query("update products set stock = stock - 1 where id = :id")
    void take(int id);
}
