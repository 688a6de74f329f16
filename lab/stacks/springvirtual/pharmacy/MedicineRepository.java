package pharmacy;

import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.query.Param;
import org.springframework.transaction.annotation.Transactional;

public interface MedicineRepository extends JpaRepository<Medicine, Integer> {
    @Transactional
    @Modifying
    @Query("update Medicine m set m.stock = m.stock - 1 where m.id = :id")
    int take(@Param("id") int id);
}
