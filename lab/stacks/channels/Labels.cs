using System;
using System.Linq;
using System.Net.Http;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;
using Microsoft.Extensions.Hosting;

namespace Parcels
{
    public sealed class LabelJob
    {
        public LabelJob(int parcel) => Parcel = parcel;

        public int Parcel { get; }

        public TaskCompletionSource<string> Done { get; } = new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);
    }

    // Labels that are still to be printed.
    public sealed class LabelQueue
    {
        private readonly Channel<LabelJob> jobs = Channel.CreateBounded<LabelJob>(2000);

        public ChannelReader<LabelJob> Jobs => jobs.Reader;

        public async Task<string> Print(int parcel)
        {
            var job = new LabelJob(parcel);
            await jobs.Writer.WriteAsync(job);
            return await job.Done.Task;
        }
    }

    // Prints labels: the carrier gives each its number, in 30 ms.
    public sealed class LabelPrinter : BackgroundService
    {
        private readonly LabelQueue queue;
        private readonly IHttpClientFactory clients;

        public LabelPrinter(LabelQueue queue, IHttpClientFactory clients)
        {
            this.queue = queue;
            this.clients = clients;
        }

        protected override Task ExecuteAsync(CancellationToken stop) =>
            Task.WhenAll(Enumerable.Range(0, Program.Has("one-reader") ? 1 : 16).Select(_ => Task.Run(() => PrintAll(stop), stop)));

        private async Task PrintAll(CancellationToken stop)
        {
            await foreach (var job in queue.Jobs.ReadAllAsync(stop))
            {
                try
                {
                    job.Done.SetResult(await clients.CreateClient("carrier").GetStringAsync("/labels/" + job.Parcel));
                }
                catch (HttpRequestException e)
                {
                    job.Done.SetException(e);
                }
            }
        }
    }
}
