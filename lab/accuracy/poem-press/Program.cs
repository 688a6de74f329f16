using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace PoemPress
{
    public static class Program
    {
        static readonly string[] words = { "moon", "river", "quiet", "stone", "lantern", "swallow", "salt", "harbour", "ember", "snow", "willow" };

        public static Task Main() => new HostBuilder()
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureWebHost(web => web
                .UseKestrel()
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                .Configure(app =>
                {
                    app.Map("/set", at => at.Run(c => c.Response.WriteAsync(Set(c.Request.Path.Value))));
                    app.Map("/reading", at => at.Run(Read));
                }))
            .Build()
            .RunAsync();

        // A poem's lines are set in columns, each as wide as its longest word.
        static string Set(string name)
        {
            var lines = new List<string[]>();
            for (int line = 0; line < 2000; line++)
                lines.Add(Line(name, line));
            int[] wide = Enumerable.Range(0, 6).Select(column => lines.Max(l => l[column].Length)).ToArray();
            return string.Join("\n", lines.Select(l => string.Join(" ", l.Select((word, column) => word.PadRight(wide[column])))).Take(24));
        }

        static string[] Line(string name, int line) =>
            Enumerable.Range(0, 6).Select(i => words[(name.Length * 5 + line * 7 + i * i) % words.Length] + "-" + (line % 9)).ToArray();

        // A reading sends a line every quarter of a second.
        static async Task Read(HttpContext c)
        {
            for (int line = 0; line < 8; line++)
            {
                await c.Response.WriteAsync(string.Join(" ", Line(c.Request.Path.Value, line)) + "\n");
                await c.Response.Body.FlushAsync();
                await Task.Delay(250, c.RequestAborted);
            }
        }
    }
}
