package claims;

import java.util.List;
import org.apache.struts2.ActionSupport;
import org.apache.struts2.ServletActionContext;
import org.apache.struts2.interceptor.parameter.StrutsParameter;

/** Answers with one claim. */
public class ClaimAction extends ActionSupport {
    private int id;

    @StrutsParameter
    public void setId(int id) { this.id = id; }

    @Override
    public String execute() throws Exception {
        List<Claim> found = Claims.find("id = ?", id);
        var response = ServletActionContext.getResponse();
        if (found.isEmpty()) {
            response.sendError(404);
            return NONE;
        }
        Claim claim = found.get(0);
        response.setContentType("application/json");
        response.getWriter().write("{\"reference\":\"" + claim.getReference() + "\",\"status\":\"" + claim.getStatus() + "\",\"cents\":" + claim.getCents() + "}");
        return NONE;
    }
}
