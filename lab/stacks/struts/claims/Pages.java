package claims;

/** The configuration and the templates of the pages. */
final class Pages {
    static final String CONFIGURATION = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE struts PUBLIC "-//Apache Software Foundation//DTD Struts Configuration 6.5//EN" "https://struts.apache.org/dtds/struts-6.5.dtd">
        <struts>
          <constant name="struts.devMode" value="false"/>
          <constant name="struts.action.extension" value=","/>
          <constant name="struts.allowlist.packageNames" value="claims"/>
          <package name="desk" extends="struts-default">
            <action name="claim" class="claims.ClaimAction"/>
            <action name="photo" class="claims.PhotoAction">
              <interceptor-ref name="basicStack"/>
            </action>
            <action name="overview" class="claims.OverviewAction">
              <result type="freemarker">/overview.ftl</result>
            </action>
          </package>
        </struts>
        """;

    static final String OVERVIEW = """
        <html><body><h1>Claims of office ${office}</h1><table>
        <#list claims as claim><tr>
          <td>${claim.id?c}</td><td>${claim.reference}</td><td>${claim.status}</td><td>${claim.quantity}</td><td>${claim.cents?c}</td><td>${claim.note}</td>
        </tr></#list>
        </table></body></html>
        """;

    /** The same page by Struts' tags, each of which evaluates an expression of OGNL on the value stack. */
    static final String OVERVIEW_OF_TAGS = """
        <html><body><h1>Claims of office <@s.property value="office"/></h1><table>
        <@s.iterator value="claims" status="row"><tr class="<@s.if test="#row.odd">odd</@s.if><@s.else>even</@s.else>">
          <td><@s.property value="id"/></td><td><@s.property value="reference"/></td>
          <td><@s.if test="status == 'paid'"><b><@s.property value="status"/></b></@s.if><@s.else><@s.property value="status"/></@s.else></td>
          <td><@s.property value="quantity"/></td><td><@s.property value="cents"/></td><td><@s.property value="note"/></td>
        </tr></@s.iterator>
        </table></body></html>
        """;

    private Pages() {}
}
