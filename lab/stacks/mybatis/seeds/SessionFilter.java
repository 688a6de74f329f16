package seeds;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import java.io.IOException;
import org.apache.ibatis.session.SqlSession;
import org.apache.ibatis.session.SqlSessionFactory;

/** Gives each request a session, which takes a connection with its first statement and keeps it until it is closed. */
public class SessionFilter implements Filter {
    private static final String NAME = "seeds.session";
    private final SqlSessionFactory sessions;

    SessionFilter(SqlSessionFactory sessions) {
        this.sessions = sessions;
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain) throws IOException, ServletException {
        try {
            chain.doFilter(request, response);
        } finally {
            close(request);
        }
    }

    SqlSession of(ServletRequest request) {
        SqlSession session = (SqlSession) request.getAttribute(NAME);
        if (session == null) {
            session = sessions.openSession(true);
            request.setAttribute(NAME, session);
        }
        return session;
    }

    /** Gives the connection back; a later statement of the request takes another. */
    static void close(ServletRequest request) {
        SqlSession session = (SqlSession) request.getAttribute(NAME);
        if (session != null) {
            session.close();
            request.removeAttribute(NAME);
        }
    }
}
