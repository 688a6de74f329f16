using System;
using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;

namespace SheetMusic
{
    // Hands out scores that a line store keeps. The store's client is as old as the
    // store: it writes a line and reads a line, and its caller waits. With FAULT=0 the
    // caller awaits.
    public static class Program
    {
        public static void Main()
        {
            var at = Environment.GetEnvironmentVariable("ADDR_SCORES").Split(':');
            var scores = new ScoreStore(new IPEndPoint(IPAddress.Parse(at[0]), int.Parse(at[1])));
            bool waits = Environment.GetEnvironmentVariable("FAULT") != "0";

            new WebHostBuilder()
                .UseKestrel()
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                .Configure(app => app.Run(async context =>
                {
                    string opus = context.Request.Path.Value.TrimStart('/').Replace('/', '-');
                    string score = waits ? scores.Read(opus) : await scores.ReadAsync(opus);
                    context.Response.ContentType = "text/plain";
                    await context.Response.WriteAsync(score);
                }))
                .Build()
                .Run();
        }
    }
}
