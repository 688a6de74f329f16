package archive;

import com.google.inject.Inject;
import com.google.inject.Singleton;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.PrefixQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.WildcardQuery;

/** Finds articles with a name of which only the end can be read in an old print. */
@Singleton
class EndingsServlet extends HttpServlet {
    private final transient ArticleIndex index;

    @Inject
    EndingsServlet(ArticleIndex index) {
        this.index = index;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String end = Words.name(Main.number(request)).substring(4);
        Main.send(response, index.search(endsWith(end)));
    }

    /** Names are indexed backwards too, so that an end is a prefix. With the fault that is not used. */
    private static Query endsWith(String end) {
        if (Main.fault("leading-wildcard")) {
            return new WildcardQuery(new Term("text", "*" + end));
        }
        return new PrefixQuery(new Term("turned", new StringBuilder(end).reverse().toString()));
    }
}
