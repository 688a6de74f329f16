using System;
using System.Net.Http;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;

namespace MirrorProxy
{
    // A proxy that awaits everything: asks another service and copies its answer.
    public static class Program
    {
        static readonly HttpMessageInvoker Upstream = new HttpMessageInvoker(new SocketsHttpHandler { UseProxy = false, AllowAutoRedirect = false });
        static readonly string Origin = "http://" + Environment.GetEnvironmentVariable("ADDR_ORIGIN");

        public static void Main() => new WebHostBuilder()
            .UseKestrel()
            .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
            .Configure(app => app.Run(Forward))
            .Build()
            .Run();

        static async Task Forward(HttpContext context)
        {
            using var request = new HttpRequestMessage(HttpMethod.Get, Origin + context.Request.Path + context.Request.QueryString);
            request.Headers.TryAddWithoutValidation("Via", "1.1 mirror");
            using HttpResponseMessage answer = await Upstream.SendAsync(request, context.RequestAborted);
            context.Response.StatusCode = (int)answer.StatusCode;
            foreach (var header in answer.Content.Headers)
                foreach (string value in header.Value)
                    context.Response.Headers.Append(header.Key, value);
            await answer.Content.CopyToAsync(context.Response.Body);
        }
    }
}
