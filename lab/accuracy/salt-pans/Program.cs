using System;
using System.Text.Json;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace SaltPans
{
    // Salt pans: how salty one is takes no time at all, the season's plan of all of them takes both CPUs
    // for a moment.
    public static class Program
    {
        static readonly double[] Brine = new double[4096];

        public static Task Main()
        {
            for (int i = 0; i < Brine.Length; i++)
                Brine[i] = 3.5 + i % 220 / 10.0;
            return new HostBuilder()
                .ConfigureLogging(l => l.ClearProviders())
                .ConfigureWebHost(w => w.UseKestrel().UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR")).Configure(Map))
                .Build().RunAsync();
        }

        static void Map(IApplicationBuilder app)
        {
            app.Map("/pan", pan => pan.Run(c =>
            {
                int n = int.Parse(c.Request.Path.Value.Substring(1));
                return c.Response.WriteAsync(JsonSerializer.Serialize(new { pan = n, percent = Brine[n % Brine.Length] }));
            }));
            app.Map("/plan", plan => plan.Run(async c =>
            {
                double[] days = await Task.WhenAll(Task.Run(() => Evaporate(0)), Task.Run(() => Evaporate(1)));
                await c.Response.WriteAsync(JsonSerializer.Serialize(days));
            }));
        }

        static double Evaporate(int half)
        {
            double days = 0;
            for (int pan = half; pan < Brine.Length; pan += 2)
                for (double percent = Brine[pan]; percent < 26; percent *= 1.0005)
                    days += Math.Exp(-percent / 30) / 50;
            return days;
        }
    }
}
