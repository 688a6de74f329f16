package claims;

import java.util.List;
import org.apache.struts2.ActionSupport;
import org.apache.struts2.interceptor.parameter.StrutsParameter;

/** Shows the claims of an office. */
public class OverviewAction extends ActionSupport {
    private int office;
    private List<Claim> claims;

    @StrutsParameter
    public void setOffice(int office) { this.office = office; }

    public int getOffice() { return office; }

    public List<Claim> getClaims() { return claims; }

    @Override
    public String execute() throws Exception {
        claims = Claims.find("customer_id = ? order by id", office % 1500);
        return SUCCESS;
    }
}
