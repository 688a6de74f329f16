package archive;

import com.google.inject.Inject;
import com.google.inject.Singleton;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;

/** Shows who must be asked for the pictures of an article. */
@Singleton
class LicenceServlet extends HttpServlet {
    private final transient Publishers publishers;

    @Inject
    LicenceServlet(Publishers publishers) {
        this.publishers = publishers;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        List<Publishers.Licence> found = publishers.licences(Main.number(request));
        Main.send(response, found);
    }
}
