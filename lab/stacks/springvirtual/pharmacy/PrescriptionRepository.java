package pharmacy;

import java.util.List;
import org.springframework.data.domain.Pageable;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.query.Param;

public interface PrescriptionRepository extends JpaRepository<Prescription, Integer> {
    @Query("select p from Prescription p join fetch p.medicine where p.patient = :patient order by p.id desc")
    List<Prescription> latestOf(@Param("patient") int patient, Pageable page);

    @Query("select sum(p.cents) from Prescription p where p.status <> 'returned'")
    long turnover();
}
