package wines;

import java.util.List;
import org.springframework.data.domain.Pageable;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.query.Param;

public interface SaleRepository extends JpaRepository<Sale, Integer> {
    @Query("select s from Sale s join fetch s.wine where s.customer = :customer order by s.id desc")
    List<Sale> latestOf(@Param("customer") int customer, Pageable page);

    @Query(value = "select archived_turnover(:customer)", nativeQuery = true)
    long turnoverOf(@Param("customer") int customer);

    @Query("select s.wine.id as wine, sum(s.cents) as cents from Sale s where s.status <> 'returned' group by s.wine.id order by sum(s.cents) desc")
    List<Object[]> soldByWine(Pageable page);
}
