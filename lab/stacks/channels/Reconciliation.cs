using System;
using System.Linq;
using System.Net.Http;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Extensions.Hosting;

namespace Parcels
{
    // Holds the parcels of 60 depots against the archive, again and again. The archive takes 400 ms for each.
    public sealed class Reconciliation : BackgroundService
    {
        private static readonly TimeSpan Pause = TimeSpan.FromSeconds(2);
        private readonly IHttpClientFactory clients;

        public Reconciliation(IHttpClientFactory clients) => this.clients = clients;

        protected override async Task ExecuteAsync(CancellationToken stop)
        {
            while (!stop.IsCancellationRequested)
            {
                await Task.Delay(Pause, stop);
                var depots = Enumerable.Range(0, 60);
                if (Program.Has("blocking-job"))
                    await Task.WhenAll(depots.Select(depot => Task.Run(() => Compare(depot, Ask(depot).Result), stop)));
                else
                    await Task.WhenAll(depots.Select(async depot => Compare(depot, await Ask(depot))));
            }
        }

        private Task<string> Ask(int depot) => clients.CreateClient("archive").GetStringAsync("/depots/" + depot);

        private static bool Compare(int depot, string archived) => archived.Length > depot;
    }
}
