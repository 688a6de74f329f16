package archive;

import com.google.inject.Inject;
import com.google.inject.Singleton;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** Takes a corrected article. */
@Singleton
class ArticleServlet extends HttpServlet {
    private final transient ArticleIndex index;
    private final AtomicInteger editions = new AtomicInteger();

    @Inject
    ArticleServlet(ArticleIndex index) {
        this.index = index;
    }

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        int edition = editions.incrementAndGet();
        index.write(Main.number(request), edition);
        Main.send(response, Map.of("edition", edition));
    }
}
