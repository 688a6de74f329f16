package seeds;

import java.util.List;
import org.apache.ibatis.annotations.Insert;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Result;
import org.apache.ibatis.annotations.ResultMap;
import org.apache.ibatis.annotations.Results;
import org.apache.ibatis.annotations.Select;

/** The statements on lots. */
public interface Lots {
    @Results(id = "lot", value = @Result(property = "findings", column = "findings", typeHandler = FindingsHandler.class))
    @Select("select id, shelf, name, findings from lots where id = #{id}")
    Lot find(int id);

    @ResultMap("lot")
    @Select("select id, shelf, name, findings from lots where shelf = #{shelf}")
    List<Lot> onShelf(int shelf);

    @Insert("insert into sales (lot_id, price) values (#{lot}, #{price})")
    void sell(@Param("lot") int lot, @Param("price") String price);
}
