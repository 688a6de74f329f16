package shop;

import java.util.List;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.query.Param;

public interface OrderRepository extends JpaRepository<PlacedOrder, Integer> {
    @Query("select o from PlacedOrder o where o.customerId = :customer")
    List<PlacedOrder> ofCustomer(@Param("customer") int customer);

    @Query("select o from PlacedOrder o join fetch o.product where o.customerId = :customer")
    List<PlacedOrder> ofCustomerWithProducts(@Param("customer") int customer);
}
