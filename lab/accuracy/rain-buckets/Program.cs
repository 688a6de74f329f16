using System;
using System.IO;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;

namespace RainBuckets
{
    // Takes readings of rain gauges, lines of tenths of millimetres in a request's body, adds
    // them up and leaves them for the archive. Nothing is wrong here: no request waits for
    // the archive, which always has something to do.
    public static class Program
    {
        static readonly Archive archive = new Archive(Environment.GetEnvironmentVariable("ADDR_ARCHIVE"));

        public static void Main() => new WebHostBuilder()
            .UseKestrel()
            .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
            .UseShutdownTimeout(TimeSpan.FromSeconds(1))
            .Configure(app => app
                .Map("/gauge", at => at.Run(Take))
                .Map("/archived", at => at.Run(context => context.Response.WriteAsync(archive.Written + "\n"))))
            .Build()
            .Run();

        static async Task Take(HttpContext context)
        {
            using var body = new StreamReader(context.Request.Body);
            int readings = 0;
            long sum = 0;
            for (string line; (line = await body.ReadLineAsync()) != null;)
            {
                if (!int.TryParse(line, out int tenths))
                    continue;
                readings++;
                sum += tenths;
            }
            archive.Leave(context.Request.Path.Value.Trim('/'), readings, sum);
            context.Response.StatusCode = StatusCodes.Status202Accepted;
            await context.Response.WriteAsync(readings + " readings\n");
        }
    }
}
