package claims;

import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.struts2.ActionSupport;
import org.apache.struts2.ServletActionContext;

/** Takes the photo of a pane and keeps it in a file until an expert has seen it. */
public class PhotoAction extends ActionSupport {
    @Override
    public String execute() throws Exception {
        Path file = Files.createTempFile(Path.of("").toAbsolutePath(), "photo", ".jpg");
        try (InputStream in = ServletActionContext.getRequest().getInputStream(); OutputStream out = Files.newOutputStream(file)) {
            long bytes = in.transferTo(out);
            ServletActionContext.getResponse().getWriter().write("{\"bytes\":" + bytes + "}");
        } finally {
            Files.delete(file);
        }
        return NONE;
    }
}
