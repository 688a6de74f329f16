package archive;

import com.google.inject.Inject;
import com.google.inject.Singleton;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.TermQuery;

/** Finds articles with a word. */
@Singleton
class SearchServlet extends HttpServlet {
    private final transient ArticleIndex index;

    @Inject
    SearchServlet(ArticleIndex index) {
        this.index = index;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Main.send(response, index.search(new TermQuery(new Term("text", Words.common(Main.number(request))))));
    }
}
